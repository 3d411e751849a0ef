#include "core/parallel/host_threads.hpp"

#include <atomic>
#include <exception>
#include <vector>

#include "core/parallel/kokkos.hpp"
#if defined(KOKKOS_ENABLE_OPENMP)
#include <omp.h>
#endif

namespace cambium {

namespace {

/// Kokkos' kernels hold a lock, so that one that starts inside another would wait for ever.
bool inside_a_kernel() {
#if defined(KOKKOS_ENABLE_OPENMP)
  return omp_in_parallel() != 0;
#else
  return true;  // other kinds of threads cannot be queried
#endif
}

/// Set while a call is active.
class Turn {
 public:
  Turn() : mine_(!taken.exchange(true)) {}
  ~Turn() {
    if (mine_) taken = false;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  bool mine() const { return mine_; }

 private:
  static std::atomic<bool> taken;
  bool mine_;
};
std::atomic<bool> Turn::taken{false};

}  // namespace

static int pretended = 0;

AsIfThreads::AsIfThreads(int threads) : before_(pretended) { pretended = threads; }
AsIfThreads::~AsIfThreads() { pretended = before_; }

int host_threads() {
  if (pretended > 0) return pretended;
#if defined(KOKKOS_ENABLE_OPENMP)
  return Kokkos::is_initialized() ? Kokkos::OpenMP().concurrency() : 1;
#else
  return 1;
#endif
}

void on_threads(int parts, const std::function<void(int part)>& work) {
  const auto in_turn = [&] {
    for (int part = 0; part < parts; ++part) work(part);
  };
  if (parts < 2 || host_threads() < 2 || inside_a_kernel()) return in_turn();
  const Turn turn;
  if (!turn.mine()) return in_turn();
  std::vector<std::exception_ptr> errors(parts);
#if defined(KOKKOS_ENABLE_OPENMP)
  using Parts = Kokkos::RangePolicy<Kokkos::OpenMP, Kokkos::IndexType<int>>;
  Kokkos::parallel_for("host threads", Parts(0, parts), [&](const int part) {
    try {
      work(part);
    } catch (...) {
      errors[part] = std::current_exception();
    }
  });
#endif
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace cambium
