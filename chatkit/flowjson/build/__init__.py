"""The typed builder: a flow as objects of Python, written from the table of components."""
