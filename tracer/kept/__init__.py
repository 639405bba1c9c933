"""What reading a source brings, kept in the user's cache folder: a second process need not read again."""
