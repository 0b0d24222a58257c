"""Published training steps beside Weir's: rows to scenarios, fits, judgement and the page."""
