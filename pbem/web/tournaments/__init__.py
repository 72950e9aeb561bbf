"""Pages of tournaments: the lists and each one for everyone, the page of an email's link, and those of people who are signed in."""
