//! A timeline in a page that a local server fills with what is in view.
