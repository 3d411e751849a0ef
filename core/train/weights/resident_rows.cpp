#include "core/train/weights/resident_rows.hpp"

#include <fmt/format.h>

#include <numeric>

#include "core/base/error.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium::train {

namespace {

constexpr int most_fields = 4;

struct Widths {
  int fields = 0;
  std::int64_t width[most_fields] = {}, all = 0;
};

template <class T>
using OfHost = Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

template <class T>
void gather_rows(const Widths& w, const T* from, const std::int32_t* rows, std::int64_t count, T* into) {
  using Items = Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for(
      "gather rows of samples", Items(0, count * w.all), KOKKOS_LAMBDA(const std::int64_t item) {
        const std::int64_t row = item / w.all;
        std::int64_t column = item - row * w.all, before = 0;
        const T value = from[rows[row] * w.all + column];
        int field = 0;
        for (; field + 1 < w.fields && column >= w.width[field]; ++field) {
          column -= w.width[field];
          before += w.width[field];
        }
        into[before * count + row * w.width[field] + column] = value;
      });
}

}  // namespace

struct ResidentRows::Memory {
  DType dtype;
  Widths widths;
  View<char*> bytes;
  std::size_t row_bytes() const { return static_cast<std::size_t>(widths.all * size_of(dtype)); }
};

ResidentRows::ResidentRows(DType dtype, std::int64_t rows, std::vector<std::int64_t> widths)
    : memory_(std::make_unique<Memory>()) {
  auto& m = *memory_;
  if (widths.empty() || std::ssize(widths) > most_fields) throw InternalError("resident rows of 1 to 4 fields");
  m.dtype = dtype;
  m.widths.fields = static_cast<int>(widths.size());
  for (std::size_t k = 0; k < widths.size(); ++k) m.widths.width[k] = widths[k];
  m.widths.all = std::accumulate(widths.begin(), widths.end(), std::int64_t{0});
  m.bytes = View<char*>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "samples of all steps"),
                        static_cast<std::size_t>(rows) * m.row_bytes());
}

ResidentRows::~ResidentRows() = default;

std::int64_t ResidentRows::row_numbers() const { return memory_->widths.all; }

void ResidentRows::bring(std::int64_t first, std::int64_t count, const void* host) {
  auto& m = *memory_;
  const auto begin = static_cast<std::size_t>(first) * m.row_bytes();
  const auto n = static_cast<std::size_t>(count) * m.row_bytes();
  Kokkos::deep_copy(ExecSpace(), Kokkos::subview(m.bytes, std::make_pair(begin, begin + n)),
                    OfHost<char>(static_cast<const char*>(host), n));
  ExecSpace().fence();  // the host memory belongs to the caller
}

void ResidentRows::gather(const std::int32_t* rows, std::int64_t count, void* into) const {
  const auto& m = *memory_;
  if (m.dtype == DType::f64)
    gather_rows(m.widths, reinterpret_cast<const double*>(m.bytes.data()), rows, count, static_cast<double*>(into));
  else
    gather_rows(m.widths, reinterpret_cast<const float*>(m.bytes.data()), rows, count, static_cast<float*>(into));
}

struct RowNumbers::Memory {
  View<std::int32_t*> numbers;
};

RowNumbers::RowNumbers() : memory_(std::make_unique<Memory>()) {}
RowNumbers::~RowNumbers() = default;

void RowNumbers::bring(const std::vector<std::int32_t>& host) {
  auto& numbers = memory_->numbers;
  ExecSpace().fence();
  if (numbers.extent(0) != host.size())
    numbers = View<std::int32_t*>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "order of the samples"), host.size());
  Kokkos::deep_copy(ExecSpace(), numbers, OfHost<std::int32_t>(host.data(), host.size()));
  ExecSpace().fence();
}

const std::int32_t* RowNumbers::data() const { return memory_->numbers.data(); }

}  // namespace cambium::train
