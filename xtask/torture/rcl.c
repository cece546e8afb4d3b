// A librcl, as far as publishers.c needs one: a function that tracers interpose and whose answer must come through.
int rcl_publisher_fini(void *publisher, void *node) { return publisher && node ? 23 : 0; }
