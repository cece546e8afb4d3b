//! A trace as a timeline for other programs: Perfetto, Chrome, Firefox.
