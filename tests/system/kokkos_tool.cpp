// A tool of Kokkos that writes down, in the file that CAMBIUM_TOOL_NOTES names, which sections and kernels it is told
// of.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

static std::FILE* notes = nullptr;

extern "C" void kokkosp_init_library(const int, const std::uint64_t, const std::uint32_t, void*) {
  const char* name = std::getenv("CAMBIUM_TOOL_NOTES");
  if (name) notes = std::fopen(name, "w");
}
extern "C" void kokkosp_finalize_library() {
  if (notes) std::fclose(notes);
}
extern "C" void kokkosp_push_profile_region(const char* name) {
  if (notes) std::fprintf(notes, "section %s\n", name);
}
extern "C" void kokkosp_pop_profile_region() {
  if (notes) std::fputs("section end\n", notes);
}
extern "C" void kokkosp_begin_parallel_for(const char* name, const std::uint32_t, std::uint64_t*) {
  if (notes) std::fprintf(notes, "kernel %s\n", name);
}
extern "C" void kokkosp_begin_parallel_reduce(const char* name, const std::uint32_t, std::uint64_t*) {
  if (notes) std::fprintf(notes, "kernel %s\n", name);
}
