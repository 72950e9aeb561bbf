"""What happens without anybody asking for it: what is done (`ticks`) and when (`loop`)."""
