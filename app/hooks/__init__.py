"""What a client's hooks call: one event on standard input, one answer on standard output."""
