#include "core/parallel/kernel_regions.hpp"

#include <fmt/format.h>

#include <string_view>

#include "core/base/recorder.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium {

namespace {

namespace tools = Kokkos::Tools::Experimental;

/// Listener that a loaded tool registered, or none.
tools::EventSet others;

/// Copies between memories in progress: one or none.
int open_copies = 0;

/// Copies by Kokkos and by us are kernels, too: only the name distinguishes them.
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

/// A copy between host and device memory, by the name of the array and by its bytes; copies within one memory are
/// kernels or cost as much as one.
void begin_copy(Kokkos_Profiling_SpaceHandle to, const char* to_name, const void* to_data,
                Kokkos_Profiling_SpaceHandle from, const char* from_name, const void* from_data, std::uint64_t bytes) {
  if (others.begin_deep_copy) others.begin_deep_copy(to, to_name, to_data, from, from_name, from_data, bytes);
  const std::string_view target(to.name), source(from.name), host("Host");
  Recorder* const found = recorder();
  const bool fill = std::string_view(from_name) == "Scalar";  // with a number: nothing passes
  if (!found || found->closed() || target == source || fill) return;
  ++open_copies;
  const bool up = source == host;
  found->enter(fmt::format("{} device: {}", up ? "to the" : "from the", up ? to_name : from_name), WorkKind::movement,
               {0.0, static_cast<double>(bytes)});
}
void end_copy() {
  if (Recorder* found = recorder(); found && !found->closed() && open_copies) --open_copies, found->leave();
  if (others.end_deep_copy) others.end_deep_copy();
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
  tools::set_begin_deep_copy_callback(begin_copy);
  tools::set_end_deep_copy_callback(end_copy);
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
