// Stands in for a built file.
