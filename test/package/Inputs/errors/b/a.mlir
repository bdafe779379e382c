// Never compiled; only its name is looked at.
