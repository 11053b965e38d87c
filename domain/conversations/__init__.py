"""Policies of importing conversations: cleaning, times, grouping of messages into documents."""
