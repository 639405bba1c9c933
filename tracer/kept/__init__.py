"""What reading a source brings, kept in the user's cache folder, so that a second process need not read again."""
