#pragma once
#include <mpi.h>

#include <climits>
#include <cstdint>

namespace cambium {

/// A number of equal things as MPI's counts take it, which end at 2^31 - 1: beyond, one thing of a type that is as
/// many. `longest` is for tests. May go before the message that it was given to has arrived.
class MessageLength {
 public:
  MessageLength(std::int64_t number, MPI_Datatype type, int longest = INT_MAX) : type_(type) {
    if (number <= longest) {
      count_ = static_cast<int>(number);
      return;
    }
    const int stretches = static_cast<int>(number / longest), rest = static_cast<int>(number % longest);
    MPI_Aint least = 0, extent = 0;
    MPI_Type_get_extent(type, &least, &extent);
    MPI_Datatype stretch = MPI_DATATYPE_NULL, all = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(longest, type, &stretch);
    MPI_Type_contiguous(stretches, stretch, &all);
    const int blocks[] = {1, rest};
    const MPI_Aint places[] = {0, extent * longest * stretches};
    const MPI_Datatype types[] = {all, type};
    MPI_Type_create_struct(2, blocks, places, types, &type_);
    MPI_Type_commit(&type_);
    MPI_Type_free(&stretch);
    MPI_Type_free(&all);
    made_ = true;
  }
  ~MessageLength() {
    if (made_) MPI_Type_free(&type_);
  }
  MessageLength(const MessageLength&) = delete;
  MessageLength& operator=(const MessageLength&) = delete;

  int count() const { return count_; }
  MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_;
  int count_ = 1;
  bool made_ = false;
};

}  // namespace cambium
