"""The local page where people do the tasks, with the same items, graders and pictures.

`server` answers the browser, `items` chooses what is shown, `checking` grades an answer, `study`
runs a measurement, and `export` writes a static site. ``assets/`` contains the page and its
editors.
"""
