! What a program in Fortran does to get density matrices: a chain of molecules with two levels each, equal spins and two spins. The
! molecules do not touch, so levels, energies and D are known: (e +- sqrt(e^2 + v^2)) of the blocks ((-e, v), (v, e)).
program density_from_fortran
  use, intrinsic :: iso_c_binding
  use mpi
  use cambium_submatrix
  implicit none
  integer, parameter :: molecules = 12, rows = 2 * molecules
  real(c_double), parameter :: e = 0.5d0, v = 0.2d0, split = 0.1d0
  real(c_double) :: level, weight, wanted
  integer(c_int), target :: functions(molecules), column(2 * rows)
  integer(c_int64_t), target :: start(rows + 1)
  real(c_double), target :: h(2 * rows), down(2 * rows), s(2 * rows), d(2 * rows), w(2 * rows), d2(2 * rows), w2(2 * rows)
  type(cambium_density_options) :: options
  type(cambium_density_result) :: result, both(2)
  type(cambium_blocks) :: blocks
  integer :: ierr, rank, ranks, first, last, k, failures, all
  integer(c_int) :: at

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  failures = 0
  functions = 2
  first = molecules * rank / ranks
  last = molecules * (rank + 1) / ranks
  blocks = cambium_blocks(molecules, c_loc(functions), first, last - first)
  start(1) = 1
  do k = 1, 2 * (last - first)
    at = 2 * (first + (k - 1) / 2)  ! rows before this molecule
    column(2 * k - 1:2 * k) = [at + 1, at + 2]
    if (mod(k, 2) == 1) then
      h(2 * k - 1:2 * k) = [-e, v]
      s(2 * k - 1:2 * k) = [1d0, 0d0]
    else
      h(2 * k - 1:2 * k) = [v, e]
      s(2 * k - 1:2 * k) = [0d0, 1d0]
    end if
    start(k + 1) = start(k) + 2
  end do
  down = h + split * s
  level = -sqrt(e**2 + v**2)
  weight = 0.5d0 * (1d0 - e / level)  ! of the lower function in the lower state

  call cambium_density_defaults(options)
  options%electrons = 2 * molecules
  call check(cambium_density_matrix_f(MPI_COMM_WORLD, blocks, csr(h), csr(s), options, result, d, w) == 0, 'a step')
  wanted = 2 * molecules * level
  call check(abs(result%energy - wanted) < 1d-9 .and. abs(result%electrons - 2 * molecules) < 1d-9, 'E and N')
  call check(abs(result%mu) < -level, 'mu lies in the gap')
  if (last > first) call check(abs(d(1) - weight) < 1d-9 .and. abs(w(1) - level * weight) < 1d-9, 'D and W')

  do k = 0, 1
    options%use_magnetisation = k
    options%magnetisation = 0
    call check(cambium_density_matrix_spin_f(MPI_COMM_WORLD, blocks, csr(h), csr(down), csr(s), options, both, &
      [c_loc(d), c_loc(d2)], [c_loc(w), c_loc(w2)]) == 0, 'two spins')
    call check(abs(both(1)%energy - wanted / 2) < 1d-9, 'E of spin up')
    call check(abs(both(2)%energy - wanted / 2 - molecules * split) < 1d-9, 'E of spin down')
    call check(abs(both(1)%electrons - molecules) < 1d-9 .and. abs(both(2)%electrons - molecules) < 1d-9, 'N of each spin')
    if (last > first) call check(abs(d2(1) - weight) < 1d-9, 'D of spin down')
    if (last > first) call check(abs(w2(1) - (level + split) * weight) < 1d-9, 'W of spin down')
  end do
  options%eps = 2
  call check(cambium_density_matrix_f(MPI_COMM_WORLD, blocks, csr(h), csr(s), options, result, d, w) == 2, 'a refusal')
  call MPI_Allreduce(failures, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
  if (all > 0) stop 1

contains
  type(cambium_csr) function csr(values)
    real(c_double), target, intent(in) :: values(:)
    csr = cambium_csr(c_loc(start), c_loc(column), c_loc(values), 1)
  end function
  subroutine check(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    failures = failures + 1
    print '(a, i0, 2a)', 'rank ', rank, ': FAILED: ', what
  end subroutine
end program
