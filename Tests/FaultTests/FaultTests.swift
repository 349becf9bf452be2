import Testing

/// Bad days: processes that die, servers that stop, freeze, fill up or forget.
///
/// Every test runs real servers and real workers under load, shows that its fault hit, and then that nothing was lost,
/// that no more than what was in flight was sent twice, and that the connection budget held all the time. The numbers
/// are those of the fault catalogue.
@Suite(.serialized)
enum FaultTests {}
