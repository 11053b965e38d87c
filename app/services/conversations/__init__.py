"""Import of conversations from exports of other programs and from sessions of agents."""
