"""Where candidates come from: what each index says."""
