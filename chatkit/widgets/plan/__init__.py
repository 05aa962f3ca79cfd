"""Plan view: a plan to read, apply, stop and take back."""
