// A library of hooks.c: it calls rcl, which it brings along under another file name, as some builds do.
int rcl_publisher_fini(void *, void *);
int node_fini(void *publisher, void *node) { return rcl_publisher_fini(publisher, node); }
