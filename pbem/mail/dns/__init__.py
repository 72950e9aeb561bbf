"""What the DNS says about email: SPF, DKIM, DMARC and MX records, read and checked."""
