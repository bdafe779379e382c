/* A static library needs one source of a language to have a linker. */
typedef int kron_test_empty;
