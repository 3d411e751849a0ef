#include "core/parallel/regions/kernel_regions.hpp"

#include "core/base/record/recorder.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium {

namespace {

namespace tools = Kokkos::Tools::Experimental;

/// What a loaded tool, or nobody, asked to be told.
tools::EventSet others;

/// Copies of Kokkos and our own are kernels, too: only the name tells.
WorkKind kind_of(std::string_view name, WorkKind usual) {
  const auto holds = [&](const char* word) { return name.find(word) != std::string_view::npos; };
  if (holds("copy") || holds("View")) return WorkKind::movement;
  return holds("activate") ? WorkKind::transcendental : usual;
}

void begin(const char* name, WorkKind usual) {
  if (Recorder* found = recorder(); found && !found->closed()) found->enter(name, kind_of(name, usual));
}

void end() {
  if (Recorder* found = recorder(); found && !found->closed()) found->leave();
}

void begin_for(const char* name, const std::uint32_t device, std::uint64_t* id) {
  if (others.begin_parallel_for) others.begin_parallel_for(name, device, id);
  begin(name, WorkKind::elementwise);
}
void end_for(std::uint64_t id) {
  end();
  if (others.end_parallel_for) others.end_parallel_for(id);
}
void begin_reduce(const char* name, const std::uint32_t device, std::uint64_t* id) {
  if (others.begin_parallel_reduce) others.begin_parallel_reduce(name, device, id);
  begin(name, WorkKind::reduction);
}
void end_reduce(std::uint64_t id) {
  end();
  if (others.end_parallel_reduce) others.end_parallel_reduce(id);
}
void begin_scan(const char* name, const std::uint32_t device, std::uint64_t* id) {
  if (others.begin_parallel_scan) others.begin_parallel_scan(name, device, id);
  begin(name, WorkKind::reduction);
}
void end_scan(std::uint64_t id) {
  end();
  if (others.end_parallel_scan) others.end_parallel_scan(id);
}

void listen(bool on) {
  if (!on) {
    tools::set_callbacks(others);
    return;
  }
  others = tools::get_callbacks();
  tools::set_begin_parallel_for_callback(begin_for);
  tools::set_end_parallel_for_callback(end_for);
  tools::set_begin_parallel_reduce_callback(begin_reduce);
  tools::set_end_parallel_reduce_callback(end_reduce);
  tools::set_begin_parallel_scan_callback(begin_scan);
  tools::set_end_parallel_scan_callback(end_scan);
}

}  // namespace

void observe_kernels() {
  static const bool once = [] {
    add_region_source(listen);
    if (Kokkos::Tools::profileLibraryLoaded())
      section_listener() = {[](std::string_view name) { Kokkos::Tools::pushRegion(std::string(name)); },
                            [] { Kokkos::Tools::popRegion(); }};
    return true;
  }();
  (void)once;
}

}  // namespace cambium
