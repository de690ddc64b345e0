"""Plain values that every floor uses: errors, resources, statistics, secrets to hide."""
