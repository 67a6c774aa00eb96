"""The field assistant in a browser: pages served to this machine only, from studies that stay encrypted on its disk."""
