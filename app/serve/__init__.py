"""One process that has the vault open for whoever asks: how it is found, how it begins and how it ends."""
