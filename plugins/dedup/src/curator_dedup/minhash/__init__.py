"""MinHash: signatures of documents that agree as often as the documents' shingles do."""
