"""How Sphinx makes the documentation site; `nox -s docs` runs it."""

from scbench import __version__

project = "scbench"
release = __version__
copyright = "the scbench developers"  # noqa: A001  (Sphinx names it)
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "myst_nb"]

# Links are checked as a code forge makes them: headings to the fourth level have anchors.
myst_heading_anchors = 4
myst_enable_extensions = ["html_image", "strikethrough"]

# The notebook is run when the site is made, so what it shows cannot be out of date.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300

# Docstrings have Google's sections, and single backquotes around code, whatever it is.
default_role = "literal"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"

html_theme = "furo"
html_title = f"scbench {__version__}"
html_copy_source = False
html_show_sourcelink = False
