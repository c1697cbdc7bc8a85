"""What an operator is and what can be done with one; names no particular operator."""
