"""What a conversation leaves behind: sentences worth keeping, who said them, and what becomes of them later."""
