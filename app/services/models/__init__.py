"""Who plays which role among the models, why, and what went wrong with them."""
