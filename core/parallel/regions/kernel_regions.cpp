#include "core/parallel/regions/kernel_regions.hpp"

#include "core/base/record/recorder.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium {

namespace {

namespace tools = Kokkos::Tools::Experimental;

/// What a loaded tool, or nobody, asked to be told.
tools::EventSet others;

template <WorkKind kind>
void begin(const char* name) {
  if (Recorder* found = recorder(); found && !found->closed()) found->enter(name, kind);
}

void end() {
  if (Recorder* found = recorder(); found && !found->closed()) found->leave();
}

void begin_for(const char* name, const std::uint32_t device, std::uint64_t* id) {
  if (others.begin_parallel_for) others.begin_parallel_for(name, device, id);
  begin<WorkKind::elementwise>(name);
}
void end_for(std::uint64_t id) {
  end();
  if (others.end_parallel_for) others.end_parallel_for(id);
}
void begin_reduce(const char* name, const std::uint32_t device, std::uint64_t* id) {
  if (others.begin_parallel_reduce) others.begin_parallel_reduce(name, device, id);
  begin<WorkKind::reduction>(name);
}
void end_reduce(std::uint64_t id) {
  end();
  if (others.end_parallel_reduce) others.end_parallel_reduce(id);
}
void begin_scan(const char* name, const std::uint32_t device, std::uint64_t* id) {
  if (others.begin_parallel_scan) others.begin_parallel_scan(name, device, id);
  begin<WorkKind::reduction>(name);
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
    return true;
  }();
  (void)once;
}

}  // namespace cambium
