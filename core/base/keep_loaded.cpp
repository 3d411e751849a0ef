// Only in sanitized builds: MPI unloads its components before the program ends, and LeakSanitizer can then no longer
// attribute leaks. Libraries therefore stay loaded, so that tests/leaks_of_others.supp can name them.
extern "C" int dlclose(void*) { return 0; }
