"""What one call of a stage means on any executor: ids, retries, isolation of rows, what fails."""
