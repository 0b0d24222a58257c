"""What tools/check-docs is made of: blocks (commands and their output), sources (one line a file)."""
