//! Two recordings side by side, as one HTML file.
