"""What the services of Compliance share and no table keeps: days, windows and validity rules."""
