#include "apps/cambium/doctor/doctor.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <random>

#include "apps/cambium/doctor/parts.hpp"
#include "core/base/timing.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/agree.hpp"
#include "core/run/summary/banner.hpp"

namespace cambium {

namespace fs = std::filesystem;

namespace {

/// Temporary folder of this call, removed by the destructor.
class Scratch {
 public:
  Scratch(const std::string& directory, const Comm& comm) : comm_(comm) {
    std::random_device source;
    path_ = (fs::path(directory) / fmt::format("cambium-doctor-{:08x}", source())).string();
    comm.broadcast(path_);
    io::on_root(comm, [&] {
      std::error_code error;
      fs::create_directories(path_, error);
      if (error) io::refuse_write(path_, error.message());
    });
  }
  ~Scratch() {
    std::error_code ignored;
    if (comm_.root()) fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  const Comm& comm_;
  std::string path_;
};

}  // namespace

ExitCode examine_installation(const DoctorOptions& options, Registry& registry, Context& context) {
  using namespace doctor;
  const double started = wall_seconds();
  Findings findings(context.log);
  report_build(registry, context, findings);
  const Machines machines(context.comm);
  check_machines(machines, context, findings);
  const Scratch scratch(options.directory, context.comm);
  check_directory(scratch.path(), machines, context, findings);
  check_numbers(context, findings);
  if (!options.quick) check_decks(scratch.path(), machines, registry, context, findings);
  context.comm.barrier();
  context.log.info(fmt::format("\n{} checks in {:.1f} s: {} fine, {} to note, {} wrong",
                               findings.fine() + findings.notes() + findings.wrong(), wall_seconds() - started,
                               findings.fine(), findings.notes(), findings.wrong()));
  return context.comm.max(findings.wrong()) > 0 ? ExitCode::numerical_failure : ExitCode::done;
}

}  // namespace cambium
