"""What is found out about a function before it is written."""
