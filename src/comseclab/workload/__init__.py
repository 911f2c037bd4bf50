"""What streams carry: recordings, synthetic sensors and opaque payloads, made into spools."""
