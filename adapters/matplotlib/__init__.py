"""Plots with Matplotlib."""
