"""From a question to an explained answer."""
