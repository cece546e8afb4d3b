//! What a check of budgets leaves behind for machines: JUnit XML and annotations.
