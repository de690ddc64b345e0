"""Speech in recordings: detection, quality, transcription, and checks of transcripts."""
