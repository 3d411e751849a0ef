#include "core/run/failure.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <thread>

#include "core/base/key_error.hpp"
#include "core/base/timing.hpp"
#include "core/deck/placed_error.hpp"
#include "core/parallel/memory.hpp"

namespace cambium {

/// Errors for which the file's reader has no message of its own.
static std::string damaged_text(const char* language, const std::exception& error) {
  return fmt::format(
      "a text in {} that a file holds is damaged or was changed ({}); copy the files that the deck names again from "
      "their source, or use others",
      language, error.what());
}

Failure failure_of(std::exception_ptr error, bool verbose) {
  try {
    std::rethrow_exception(error);
  } catch (const deck::PlacedError& e) {
    return {verbose ? e.verbose() : e.what(), ExitCode::bad_input, false};
  } catch (const KeyError& e) {
    return {verbose ? deck::PlacedText{e.what(), e.id()}.with_id() : e.what(), ExitCode::bad_input, false};
  } catch (const InputError& e) {
    return {e.what(), ExitCode::bad_input, false};
  } catch (const NumericalError& e) {
    return {std::string("numerical failure: ") + e.what(), ExitCode::numerical_failure, e.elsewhere()};
  } catch (const nlohmann::json::exception& e) {
    return {damaged_text("JSON", e), ExitCode::bad_input, false};
  } catch (const YAML::Exception& e) {
    return {damaged_text("YAML", e), ExitCode::bad_input, false};
  } catch (const std::system_error& e) {  // of a thread that cannot be started
    if (e.code() == std::errc::resource_unavailable_try_again)
      return {fmt::format("no thread could be started ({}): this shell or job allows too little memory or too few "
                          "processes; raise its limits (ulimit -v, ulimit -u)",
                          e.what()),
              ExitCode::bad_input, false};
    return {std::string("internal error, please report it: ") + e.what(), ExitCode::internal_error, false};
  } catch (const std::exception& e) {  // errors of Torch come as internal ones, and may be about memory
    if (const std::string memory = memory_refusal(e); !memory.empty()) return {memory, ExitCode::bad_input, false};
    return {std::string("internal error, please report it: ") + e.what(), ExitCode::internal_error, false};
  } catch (...) {
    return {"internal error, please report it: unknown exception", ExitCode::internal_error, false};
  }
}

bool every_rank_arrives(const Comm& comm) {
  if (comm.size() == 1) return true;
  MPI_Request request;
  MPI_Ibarrier(comm.handle(), &request);
  const double start = wall_seconds();
  for (int done = 0; wall_seconds() - start < 5.0; std::this_thread::sleep_for(std::chrono::milliseconds(5))) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) return true;
  }
  return false;
}

int report_failure(std::exception_ptr error, const Comm& comm, bool verbose) {
  const Failure failure = failure_of(error, verbose);
  const int code = static_cast<int>(failure.code);
  auto print = [&] { std::fprintf(stderr, "cambium: %s\n", failure.text.c_str()); };
  if (comm.size() == 1) {
    print();
    return code;
  }
  if (!every_rank_arrives(comm)) {
    std::fprintf(stderr, "cambium: on rank %d, which ends the job: %s\n", comm.rank(), failure.text.c_str());
    std::fflush(stderr);
    MPI_Abort(comm.handle(), code);
  }
  // The lowest rank that knows the cause reports it for all.
  int speaker = failure.elsewhere ? comm.size() : comm.rank();
  MPI_Allreduce(MPI_IN_PLACE, &speaker, 1, MPI_INT, MPI_MIN, comm.handle());
  const bool speaks = speaker == comm.rank() || (speaker == comm.size() && comm.root());
  if (speaks) print();
  const int worst = comm.max(code);
  // mpirun ends a job when the first rank exits with an error, printing only the output received from the others by
  // then.
  if (!speaks) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  return worst;
}

}  // namespace cambium
