"""Measuring recall by a user's own questions: what is asked, what counts as right, figures, what each step adds."""
