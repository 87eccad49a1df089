"""What is made of results: tables now; every function takes and returns polars frames."""
