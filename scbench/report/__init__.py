"""What people look at: charts, pictures and the HTML report."""
