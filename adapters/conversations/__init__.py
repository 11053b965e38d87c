"""Exports of chat programs and sessions of agents: one module for each format, and the table of formats."""
