! What a simulation in Fortran does to train while it runs, as session_from_c.c: y = sin(2 a) b on points of each rank.
program session_from_fortran
  use, intrinsic :: iso_c_binding
  use mpi
  use cambium_train
  implicit none
  integer, parameter :: points = 64
  character(len=*), parameter :: line = new_line('a'), deck = &
      'network: {type: mlp, layers: [16], input: x, target: y}' // line // 'optimizer: adam' // line // &
      'learning_rate: {type: constant, start: 0.01}' // line // 'reduce: {mode: ordered, micro_batches: 4}' // line
  character(kind=c_char, len=2), target :: x_name = 'x' // c_null_char, y_name = 'y' // c_null_char
  character(kind=c_char, len=7), target :: output_name = 'output' // c_null_char
  real(c_double), target :: x(points, 2), y(points), found(points, 1)
  real(c_double) :: loss, first, saved, again, metrics(1)
  type(cambium_session) :: session, other
  character(len=300) :: path
  integer :: step, rank, ranks, failures, error, id
  failures = 0
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call system_clock(id)
  call MPI_Bcast(id, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  call get_environment_variable('TMPDIR', path, status=error)
  if (error /= 0) path = '/tmp'
  path = trim(path) // '/cambium_fortran_session_' // number(id) // '.h5'

  call check(cambium_train_create(MPI_COMM_WORLD, 'network: {type: mpl}' // line, session) == cambium_bad_input, &
      'a wrong deck is refused')
  call check(index(cambium_train_message(), "did you mean 'mlp'?") > 0, 'and the message says what was meant')
  call check(cambium_train_create(MPI_COMM_WORLD, deck, session) == cambium_done, 'a session is made')
  call check(cambium_train_save(session, trim(path)) == cambium_bad_input, 'nothing to save before the first step')
  first = 0
  do step = 0, 299
    call fill(step)
    call check(cambium_train_step(session, data(), loss) == cambium_done, 'step')
    if (step == 0) first = loss
  end do
  call check(loss < 0.02 * first, 'the loss falls')
  call check(cambium_train_steps(session) == 300, 'steps are counted')
  call check(cambium_train_evaluate(session, data(), metrics) == cambium_done .and. metrics(1) < 0.05, 'small error')
  call check(cambium_train_infer(session, [cambium_samples(x, x_name)], [cambium_samples(found, output_name)]) == &
      cambium_done, 'infer')
  call check(maxval(abs(found(:, 1) - y)) < 0.15, 'outputs are near the function')

  call check(cambium_train_save(session, trim(path)) == cambium_done, 'save')
  call fill(300)
  call check(cambium_train_step(session, data(), saved) == cambium_done, 'step after saving')
  call check(cambium_train_create(MPI_COMM_WORLD, deck, other) == cambium_done, 'another session')
  call check(cambium_train_load(other, trim(path)) == cambium_done .and. cambium_train_steps(other) == 300, 'load')
  call check(cambium_train_step(other, data(), again) == cambium_done, 'step after loading')
  call check(saved == again, 'a loaded session goes on bit for bit')
  call check(cambium_train_write_model(session, trim(path) // '.model') == cambium_done, 'a model file is written')
  call check(cambium_train_step(session, [cambium_samples(x(:8, :), x_name), cambium_samples(y, y_name)]) == &
      cambium_bad_input, 'arrays of different lengths are refused')
  call cambium_train_destroy(other)
  call cambium_train_destroy(session)
  if (rank == 0) call remove_file(trim(path))
  if (rank == 0) call remove_file(trim(path) // '.model')
  call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
  if (failures > 0) error stop 1
  if (rank == 0) print '(a)', 'all checks of the Fortran interface passed'

contains

  function data() result(arrays)
    type(cambium_array) :: arrays(2)
    arrays = [cambium_samples(x, x_name), cambium_samples(y, y_name)]
  end function

  subroutine fill(at)
    integer, intent(in) :: at
    integer :: i, place
    do i = 1, points
      place = (at * ranks + rank) * points + i
      x(i, 1) = modulo(place * 0.618033988749895d0, 1d0)
      x(i, 2) = modulo(place * 0.414213562373095d0, 1d0)
      y(i) = sin(2 * x(i, 1)) * x(i, 2)
    end do
  end subroutine

  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    failures = failures + 1
    print '(a, i0, 5a)', 'rank ', rank, ': FAILED: ', what, ' (', cambium_train_message(), ')'
  end subroutine

  function number(value) result(text)
    integer, intent(in) :: value
    character(len=:), allocatable :: text
    character(len=20) :: room
    write (room, '(i0)') value
    text = trim(room)
  end function

  subroutine remove_file(name)
    character(len=*), intent(in) :: name
    integer :: unit
    open (newunit=unit, file=name)
    close (unit, status='delete')
  end subroutine
end program
